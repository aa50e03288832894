/** Setting of a room for joining by number without a link. `inherit`: the site's setting applies. */
export const entriesByNumber = ['inherit', 'on', 'off'] as const
export type EntryByNumber = (typeof entriesByNumber)[number]

/** Whether a room can be joined by number. @param site the setting `media.open_rooms` */
export function isOpenToNumber(room: EntryByNumber | undefined, site: boolean): boolean {
  return room === undefined || room === 'inherit' ? site : room === 'on'
}

/**
 * Operations of a visit, in the activity. `joinPage`: opening the page that redirects to rooms. `lookAtRoom`:
 * requesting facts about a room without a link. `enterRoom`: joining a room that was not open yet, or without a link.
 */
export const visitNames = { joinPage: 'join_page', lookAtRoom: 'look_at_room', enterRoom: 'enter_room' } as const
