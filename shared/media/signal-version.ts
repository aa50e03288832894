/** In a file of its own, so that the room page can import it without the schemas. */

/** Version of the room signalling; a node refuses another one. */
export const signalVersion = 1
