/**
 * Reactions that users can send to all people in a room. Each is shown briefly. This module contains no schemas, so
 * that the room page can import it.
 */
export const reactions = ['thumbs_up', 'heart', 'clap', 'laugh', 'surprised', 'thumbs_down'] as const
export type Reaction = (typeof reactions)[number]
