/**
 * Offset from a node's UDP port to the one for clients that restart ICE, if it is free: firewalls can be configured for it, and neighbouring nodes have
 * their ports in between.
 */
export const restartPortAbove = 100
