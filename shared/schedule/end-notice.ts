/**
 * Time before the end of a meeting at which people in the room are notified, in minutes. In a separate module, so that
 * the room page does not have to include zod.
 */
export const noticeMinutes = 5
