<?php

namespace Shop;

class Shelf
{
    private int $held = 0;

    public function __construct(public string $name)
    {
    }

    /** Puts n more onto the shelf. */
    public function add(int $n): void
    {
        $this->held += $n;
    }

    public function count(): int
    {
        return $this->held;
    }
}
