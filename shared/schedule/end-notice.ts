/** Time before the end of a meeting at which people in the room are notified, in minutes. In a file of its own: the room page has no zod. */
export const noticeMinutes = 5
