/** Whether anybody who knows a room's number may join it without a link: as the site's setting says, or as the room itself does. */
export const entriesByNumber = ['inherit', 'on', 'off'] as const
export type EntryByNumber = (typeof entriesByNumber)[number]

/** Whether the number of a room is enough to join it. @param site the setting `media.open_rooms` */
export function isOpenToNumber(room: EntryByNumber | undefined, site: boolean): boolean {
  return room === undefined || room === 'inherit' ? site : room === 'on'
}
