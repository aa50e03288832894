/**
 * Offset from a node's UDP port to the port for clients that restart ICE, if it is free. Firewalls can be configured
 * for it, and the ports of neighbouring nodes are in between.
 */
export const restartPortAbove = 100
