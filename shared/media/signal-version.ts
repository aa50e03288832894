/** Constant in a separate module, so that the room page can import it without the schemas. */

/** Version of the room signaling. Nodes reject all other versions. */
export const signalVersion = 1
