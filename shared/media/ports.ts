/**
 * A node's UDP port where clients come in that began ICE anew is so far above its other one, where that is free: a firewall can be told, and nodes beside each other have
 * theirs between.
 */
export const restartPortAbove = 100
