import { createHmac } from 'node:crypto'

/** The plugins of rooms and of cameras. */
const videoRoom = 'janus.plugin.videoroom'
const streaming = 'janus.plugin.streaming'

/** Content of a room token, in our own form of Janus's signed tokens. */
export interface RoomToken {
  /** Its name on the node. */
  room: string
  userId: string
  /** A device's token is valid in a locked room as well: its issuer has checked that the device may enter. */
  role: 'host' | 'member' | 'device'
  /** Unix seconds. */
  expiresAt: number
}

const letters = { host: 'h', member: 'm', device: 'd' } as const
const roles = { h: 'host', m: 'member', d: 'device' } as const

/**
 * A signed token of Janus: `EXP,realm,descriptor…:SIG`, the signature being HMAC-SHA-1 in base64 (auth.c of Janus 1.1). Core tokens are for the realm `janus`, and name the plugins
 * that may be used.
 * @param expiresAt Unix seconds
 */
export function coreToken(secret: string, expiresAt: number): string {
  return signed(secret, `${expiresAt},janus,${videoRoom}`)
}

/** The same for the controller itself, which puts cameras into rooms: on a node that has no API secret. */
export function ownCoreToken(secret: string, expiresAt: number): string {
  return signed(secret, `${expiresAt},janus,${videoRoom},${streaming}`)
}

/**
 * The token with which one person joins one room. Janus looks at `room=`; who it is for stands beside it, so that it is taken back with its owner: names are base64url, because a
 * comma or colon would end a descriptor.
 */
export function roomToken(secret: string, { room, userId, role, expiresAt }: RoomToken): string {
  const name = Buffer.from(userId, 'utf8').toString('base64url')
  return signed(secret, `${expiresAt},${videoRoom},room=${room},u=${name},r=${letters[role]}`)
}

const form = /^(\d{1,15}),janus\.plugin\.videoroom,room=(.+),u=([\w-]*),r=([hmd]):[\w+/=]+$/s

/** Content of our room token; undefined for anything else. Janus has checked its signature. */
export function readRoomToken(token: string): RoomToken | undefined {
  const [, expires, room, name, role] = form.exec(token) ?? []
  if (expires === undefined || room === undefined || name === undefined) return undefined
  return {
    room,
    userId: Buffer.from(name, 'base64url').toString('utf8'),
    role: roles[role === 'h' || role === 'd' ? role : 'm'],
    expiresAt: Number(expires),
  }
}

function signed(secret: string, text: string): string {
  return `${text}:${createHmac('sha1', secret).update(text).digest('base64')}`
}
