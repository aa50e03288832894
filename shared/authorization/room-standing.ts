/**
 * Standing of a caller in one room, as proved to its node: no proof, waiting for a host, an invisible viewer, a camera
 * of the operator, or a user of the room.
 */
export type RoomStanding = 'stranger' | 'waiting' | 'observer' | 'camera' | 'member' | 'host'
