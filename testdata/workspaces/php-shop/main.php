<?php

require __DIR__ . '/src/Shelf.php';
require __DIR__ . '/src/Till.php';

$tea = new Shop\Shelf('日本 é 😀'); $tea->add(2);
Shop\Till::sell($tea);
echo $tea->count(), "\n";
