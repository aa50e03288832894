import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { roleNames } from '../../shared/console/role-names.ts'
import { tokenScope } from '../../shared/console/token-scopes.ts'
import { sameSecret } from '../access/same-secret.ts'
import type { Caller } from './callers.ts'

/** Says for whom another controller of the site calls: who they are was shown there. */
export const callerHeader = 'roomdesk-caller'
/** How coarse the time in a proof is, in milliseconds: clocks of two machines may differ by less than this. */
const slotMs = 5 * 60_000

const callerSchema = z.strictObject({
  role: z.enum(roleNames),
  way: z.enum(['key', 'password', 'token']),
  account: z.string().optional(),
  accountId: z.string().optional(),
  session: z.string().optional(),
  token: z.string().optional(),
  tokenId: z.string().optional(),
  scopes: z.array(tokenScope).optional(),
})

/** Makes and checks what one controller says to another of a caller, with a proof that only who has the site's key can make. */
export class ProofOfCaller {
  readonly #proof: (text: string) => string
  readonly #now: () => number

  /** @param proof of a text, by the key that the site's controllers share @param now milliseconds since the epoch */
  constructor(proof: (text: string) => string, now: () => number = Date.now) {
    this.#proof = proof
    this.#now = now
  }

  headerFor(caller: Caller): string {
    const { role, way, account, accountId, session, token, tokenId, scopes } = caller
    const fields = { role, way, account, accountId, session, token, tokenId, scopes }
    const told = Buffer.from(JSON.stringify(fields)).toString('base64url')
    const slot = Math.floor(this.#now() / slotMs)
    return `${told} ${slot} ${this.#proof(`${told} ${slot}`)}`
  }

  /** Whose a request is, as another controller proves; undefined where none does. */
  callerOf({ headers }: IncomingMessage): Caller | undefined {
    const value = headers[callerHeader]
    if (typeof value !== 'string') return undefined
    const [told = '', slot = '', shown = ''] = value.split(' ')
    const now = Math.floor(this.#now() / slotMs)
    if (!/^\d{1,9}$/.test(slot) || Math.abs(Number(slot) - now) > 1) return undefined
    if (!sameSecret(this.#proof(`${told} ${slot}`), shown)) return undefined
    const { account, accountId, session, token, tokenId, scopes, ...known } = callerSchema.parse(
      JSON.parse(Buffer.from(told, 'base64url').toString('utf8')),
    )
    return {
      ...known,
      ...(account === undefined ? {} : { account }),
      ...(accountId === undefined ? {} : { accountId }),
      ...(session === undefined ? {} : { session }),
      ...(token === undefined ? {} : { token }),
      ...(tokenId === undefined ? {} : { tokenId }),
      ...(scopes === undefined ? {} : { scopes }),
    }
  }
}
