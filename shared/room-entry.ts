/** Rooms that can be joined by number, without a link: by the site's setting, or by the room's own. */
export const entriesByNumber = ['inherit', 'on', 'off'] as const
export type EntryByNumber = (typeof entriesByNumber)[number]

/** Tells whether a room can be joined by number. @param site the setting `media.open_rooms` */
export function isOpenToNumber(room: EntryByNumber | undefined, site: boolean): boolean {
  return room === undefined || room === 'inherit' ? site : room === 'on'
}

/** Operation of a visit: to the page that leads into rooms, a look at a room without a link, and a join of a room that was not open yet or needs no link. */
export const visitNames = { joinPage: 'join_page', lookAtRoom: 'look_at_room', enterRoom: 'enter_room' } as const
