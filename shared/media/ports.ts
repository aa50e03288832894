/**
 * Offset from a node's UDP port to the port for clients that restart ICE, which is used if it is free. The fixed offset
 * lets firewalls be configured, and leaves the ports in between to other nodes.
 */
export const restartPortAbove = 100
