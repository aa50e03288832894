/** Reactions that users can send to everybody in a room; each is shown for a moment. Without schemas, for the room page. */
export const reactions = ['thumbs_up', 'heart', 'clap', 'laugh', 'surprised', 'thumbs_down'] as const
export type Reaction = (typeof reactions)[number]
