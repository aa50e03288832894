/** By itself, so that the room page can take it without the schemas. */

/** Version of the room signalling; a node refuses another one. */
export const signalVersion = 1
