import { z } from 'zod'
import { streamSources } from '../../../shared/media/stream-source.ts'
import { sealedPrefix } from '../../store/sealer.ts'
import { recordedLinkPlace } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'

/** Claims of the token in the address of a recorded span; times are milliseconds since the epoch. */
const recordedClaimsSchema = z.strictObject({
  v: z.literal(1),
  room: z.string().min(1).max(128),
  user: z.string().min(1).max(128),
  source: z.enum(streamSources),
  from: z.number(),
  to: z.number(),
  exp: z.number(),
})
export type RecordedClaims = z.output<typeof recordedClaimsSchema>

const maxToken = 1_500

/** Makes a token: sealed with the site's key, so that only this site can make one. */
export function sealRecordedToken(store: Pick<Store, 'seal'>, claims: RecordedClaims): string {
  return store.seal(JSON.stringify(claims), recordedLinkPlace()).slice(sealedPrefix.length)
}

/** Claims of a token that this site made and that has not expired; undefined for every other text. */
export function openRecordedToken(
  store: Pick<Store, 'unseal'>,
  token: string,
  now: number,
): RecordedClaims | undefined {
  if (token.length > maxToken || !/^[\w-]+$/.test(token)) return undefined
  try {
    const claims = recordedClaimsSchema.parse(JSON.parse(store.unseal(sealedPrefix + token, recordedLinkPlace())))
    return claims.exp > now ? claims : undefined
  } catch {
    return undefined
  }
}
