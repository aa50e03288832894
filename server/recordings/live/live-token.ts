import { z } from 'zod'
import { streamSources } from '../../../shared/media/stream-source.ts'
import { sealedPrefix } from '../../store/sealer.ts'
import { liveLinkPlace } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'

/** Claims of the token in the address of a live stream. */
const liveClaimsSchema = z.strictObject({
  v: z.literal(1),
  room: z.string().min(1).max(128),
  user: z.string().min(1).max(128),
  source: z.enum(streamSources),
  sound: z.boolean(),
  picture: z.boolean(),
  /** The sound is that of the room; left out: that of the user. */
  mixed: z.boolean().optional(),
  /** Id of the live stream that it belongs to, with which it ends; left out: it expires. */
  live: z.string().max(64).optional(),
  /** Milliseconds since the epoch. */
  exp: z.number(),
})
export type LiveClaims = z.output<typeof liveClaimsSchema>

const maxToken = 1_500

/** Makes a token: sealed with the site's key, so that only this site can make one, and nobody reads what is in it. */
export function sealLiveToken(store: Pick<Store, 'seal'>, claims: LiveClaims): string {
  return store.seal(JSON.stringify(claims), liveLinkPlace()).slice(sealedPrefix.length)
}

/** Claims of a token that this site made and that has not expired; undefined for every other text. */
export function openLiveToken(store: Pick<Store, 'unseal'>, token: string, now: number): LiveClaims | undefined {
  if (token.length > maxToken || !/^[\w-]+$/.test(token)) return undefined
  try {
    const claims = liveClaimsSchema.parse(JSON.parse(store.unseal(sealedPrefix + token, liveLinkPlace())))
    return claims.exp > now ? claims : undefined
  } catch {
    return undefined
  }
}
