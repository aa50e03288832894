/**
 * Reactions that users can send to all people in a room; each is shown briefly. This module contains no schemas, for
 * the room page.
 */
export const reactions = ['thumbs_up', 'heart', 'clap', 'laugh', 'surprised', 'thumbs_down'] as const
export type Reaction = (typeof reactions)[number]
