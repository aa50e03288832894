/**
 * Standing of a caller towards one room, as its node has proved it: nothing proved yet, waiting for a host, watching unseen, a camera of the operator, or a person in
 * the room.
 */
export type RoomStanding = 'stranger' | 'waiting' | 'observer' | 'camera' | 'member' | 'host'
