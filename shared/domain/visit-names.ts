/** Operation of a visit: to the page that leads into rooms, a look at a room without a link, and a join of a room that was not open yet or needs no link. */
export const visitNames = { joinPage: 'join_page', lookAtRoom: 'look_at_room', enterRoom: 'enter_room' } as const
