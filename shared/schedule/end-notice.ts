/**
 * Time before the end of a meeting at which people in the room are notified, in minutes. Separate module, because the
 * room page does not include zod.
 */
export const noticeMinutes = 5
