/**
 * Standing of a caller in one room, as proved to the room's node. `stranger`: no proof; `waiting`: waiting for a host;
 * `observer`: an invisible viewer; `camera`: a camera of the operator; `member` or `host`: a user of the room.
 */
export type RoomStanding = 'stranger' | 'waiting' | 'observer' | 'camera' | 'member' | 'host'
