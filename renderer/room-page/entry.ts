import { bytesOfBase64 } from '../kit/transport/base64.ts'
import { roomParameter, tokenParameter } from '../../shared/media/room-page.ts'

/** Parts of the page's address. */
export interface Entry {
  /** Empty: the link is incomplete. */
  roomId: string
  /**
   * Token of the join link. Empty: the page asks the node whether the room's number is enough, and offers the host
   * password.
   */
  token: string
  /** Name in the link; undefined if the user chooses one. */
  name: string | undefined
  /** Short address of the link; empty: it has none. */
  url: string
  /** The link is for anybody and does not make its users hosts, so it can be shared. */
  isForAnybody: boolean
  /** Expiry of the link in milliseconds since the epoch; undefined: no link. */
  expiresAt: number | undefined
}

/** Reads the page's address: the room from the query, the token from the fragment, which browsers send to no server. */
export function entryOf(location: { search: string; hash: string }): Entry {
  const roomId = new URLSearchParams(location.search).get(roomParameter) ?? ''
  const token = new URLSearchParams(location.hash.slice(1)).get(tokenParameter) ?? ''
  const { name, url, role, user, exp: expiresAt } = claimsOf(token)
  return {
    roomId,
    token,
    name: typeof name === 'string' && name !== '' ? name : undefined,
    url: typeof url === 'string' && /^https?:/.test(url) ? url : '',
    isForAnybody: role === 'member' && user === undefined && name === undefined,
    expiresAt: typeof expiresAt === 'number' ? expiresAt : undefined,
  }
}

/** Reads the claims of a token without verification, only for display. */
function claimsOf(token: string): Record<string, unknown> {
  try {
    const payload = (token.split('.')[0] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = bytesOfBase64(payload)
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' ? { ...value } : {}
  } catch {
    return {}
  }
}
