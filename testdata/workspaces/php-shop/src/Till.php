<?php

namespace Shop;

class Till
{
    public static function sell(Shelf $shelf): bool
    {
        if ($shelf->count() === 0) {
            return false;
        }
        $shelf->add(-1);
        return true;
    }
}
