/** Separate module, so that the room page can import it without the schemas. */

/** Version of the room signalling; nodes refuse any other. */
export const signalVersion = 1
