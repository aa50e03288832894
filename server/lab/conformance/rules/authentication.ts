import { type DigestForm, digestForms } from '../../../../shared/settings/network.ts'
import { contract, NotProvokedError, specification } from '../verdict.ts'
import type { Rule, Trial } from '../trial.ts'

/** Minimum length of a text with 128 random bits, in base64 without padding. */
const randomLength = 22

/**
 * Rules of `/rtc/auth/valid`. They fail to authenticate seven times: a server may lock an address after 20 failures in
 * a minute.
 */
export const authenticationRules: readonly Rule[] = [
  {
    id: 'authenticate.success',
    sentence: 'The right digest is answered with random and key, from which the client makes a token that is accepted.',
    source: specification('5'),
    check: async (trial) => {
      const { random, key } = await trial.succeed('authenticate', await keyPair(trial))
      await acceptsToken(trial, await trial.client.sign(`${random}:${key}`))
    },
  },
  {
    id: 'authenticate.digest-again',
    sentence: 'The same digest is accepted again, and opens another session; the earlier one stays valid.',
    source: contract('2'),
    check: async (trial) => {
      const first = await session(trial)
      const second = await session(trial)
      trial.holds(
        first.random !== second.random && first.key !== second.key,
        'a fresh random and key',
        'the same again',
      )
      await acceptsToken(trial, first.token)
      await acceptsToken(trial, second.token)
    },
  },
  {
    id: 'authenticate.random',
    sentence: 'random and key are unguessable: at least 128 bits each, different from each other.',
    source: contract('2'),
    check: async (trial) => {
      const { random, key } = await trial.succeed('authenticate', await keyPair(trial))
      const isLong = random.length >= randomLength && key.length >= randomLength
      trial.holds(
        isLong && random !== key,
        `two texts of ${randomLength} characters or more`,
        `${random.length} and ${key.length}`,
      )
    },
  },
  refusal('authenticate.digest-wrong', 'A digest made with another secret key is refused with 401.', async (trial) => ({
    digest: await trial.client.sign(trial.client.target.accessKey, trial.client.form, 'another secret key'),
  })),
  refusal(
    'authenticate.digest-of-other-message',
    'A digest of another message is refused with 401.',
    async (trial) => ({
      digest: await trial.client.sign(`${trial.client.target.accessKey} `),
    }),
  ),
  refusal(
    'authenticate.digest-cut',
    'A digest without its last ten characters is refused with 401.',
    async (trial) => ({
      digest: (await trial.client.sign(trial.client.target.accessKey)).replace(/=*$/, '').slice(0, -10),
    }),
  ),
  refusal('authenticate.digest-missing', 'A missing digest is refused with 401.', () => ({ digest: undefined })),
  refusal('authenticate.access-key-missing', 'A missing access_key is refused with 401.', () => ({
    access_key: undefined,
  })),
  refusal('authenticate.access-key-unknown', 'An unknown access_key is refused with 401.', async (trial) => {
    const access_key = trial.id()
    return { access_key, digest: await trial.client.sign(access_key) }
  }),
  refusal('authenticate.access-key-case', 'access_key is case-sensitive.', (trial) => {
    const { accessKey } = trial.client.target
    const access_key = accessKey === accessKey.toUpperCase() ? accessKey.toLowerCase() : accessKey.toUpperCase()
    if (access_key === accessKey) throw new NotProvokedError('access_key has no letters')
    return { access_key }
  }),
  {
    id: 'authenticate.repeated',
    sentence: 'A repeated digest is a parameter error, not a failed authentication.',
    source: contract('1'),
    check: async (trial) => trial.refused('authenticate', await keyPair(trial), 'parameter', { query: 'digest=a' }),
  },
  ...digestForms.map(
    (form): Rule => ({
      id: `authenticate.form-${form}`,
      sentence: `A digest as ${form} is accepted, and so is a token in the same form.`,
      source: contract('2'),
      check: async (trial) => acceptsToken(trial, await tokenIn(trial, form)),
    }),
  ),
  spelling(
    'token.plus-unescaped',
    'A + of a token that was sent unescaped, and arrives as a space, is accepted.',
    /\+/,
    (token) => token.replaceAll('+', ' '),
  ),
  spelling('token.url-safe', 'A token in the URL-safe alphabet of base64 is accepted.', /[+/]/, (token) =>
    token.replaceAll('+', '-').replaceAll('/', '_'),
  ),
  spelling('token.unpadded', 'A token without its padding is accepted.', /=/, (token) => token.replaceAll('=', '')),
  {
    id: 'token.both-apis',
    sentence: 'A token is valid on both APIs.',
    source: specification('5'),
    check: async (trial) => {
      await acceptsToken(trial, trial.client.token)
      await trial.succeed('list_outgoing_users', { roomId: trial.id() })
    },
  },
  {
    id: 'token.of-other-secret',
    sentence: 'A token that was made with another secret key is refused with 602.',
    source: specification('5'),
    check: async (trial) => {
      const { random, key } = await trial.prepare('authenticate', await keyPair(trial))
      const token = await trial.client.sign(`${random}:${key}`, trial.client.form, 'another secret key')
      await trial.refused('get_room', { room_id: trial.id() }, 'tokenIncorrect', { token })
    },
  },
  {
    id: 'token.of-other-message',
    sentence: 'A token of key and random in the wrong order is refused with 602.',
    source: specification('5'),
    check: async (trial) => {
      const { random, key } = await trial.prepare('authenticate', await keyPair(trial))
      await trial.refused('get_room', { room_id: trial.id() }, 'tokenIncorrect', {
        token: await trial.client.sign(`${key}:${random}`),
      })
    },
  },
  {
    id: 'token.digest-is-none',
    sentence: 'The digest of the access_key is no token.',
    source: specification('5'),
    check: async (trial) => {
      const token = await trial.client.sign(trial.client.target.accessKey)
      await trial.refused('get_room', { room_id: trial.id() }, 'tokenIncorrect', { token })
    },
  },
  beyond('token.expired', 'A token expires 12 h after its last use, and after 7 days at most.', 'needs 12 hours'),
  beyond(
    'token.credential-disabled',
    'A token ends with its credential.',
    'needs an operator who disables the credential',
  ),
  beyond(
    'token.sessions',
    'A credential has 10,000 sessions at most; the least recently used one ends.',
    'would end sessions of others',
  ),
  beyond(
    'authenticate.failures',
    'After 20 failures in a minute an address is refused with 401.',
    'would lock out this address for a minute',
  ),
]

async function keyPair({ client }: Trial): Promise<{ access_key: string; digest: string }> {
  return { access_key: client.target.accessKey, digest: await client.sign(client.target.accessKey) }
}

/** Parameters that replace those of a valid key pair; undefined: the parameter is left out. */
type Changed = Record<string, string | undefined>

function refusal(id: string, sentence: string, change: (trial: Trial) => Changed | Promise<Changed>): Rule {
  return {
    id,
    sentence,
    // The specification does not say how a missing key pair differs from a wrong one.
    source: id.endsWith('missing') || id.endsWith('case') ? contract('2') : specification('5'),
    check: async (trial) => {
      const given = Object.entries({ ...(await keyPair(trial)), ...(await change(trial)) }).filter(
        ([, value]) => value !== undefined,
      )
      await trial.refused('authenticate', Object.fromEntries(given), 'authenticationFailed')
    },
  }
}

/** A rule about another spelling of a token, of a session whose token has the characters in question. */
function spelling(id: string, sentence: string, needed: RegExp, change: (token: string) => string): Rule {
  return {
    id,
    sentence,
    source: contract('2'),
    check: async (trial) => {
      for (const form of digestForms)
        for (let attempt = 0; attempt < 8; attempt++) {
          const token = await tokenIn(trial, form).catch(noSuchForm)
          if (token === undefined) break
          if (!needed.test(token)) continue
          trial.client.secrets.add(change(token))
          return await acceptsToken(trial, change(token))
        }
      throw new NotProvokedError('no token of this server has these characters')
    },
  }
}

/** A rule about a condition that no client can make. */
function beyond(id: string, sentence: string, reason: string): Rule {
  return { id, sentence, source: contract('2'), check: () => Promise.reject(new NotProvokedError(reason)) }
}

async function session(trial: Trial): Promise<{ random: string; key: string; token: string }> {
  const { random, key } = await trial.succeed('authenticate', await keyPair(trial))
  return { random, key, token: await trial.client.sign(`${random}:${key}`) }
}

/** Opens a session in one form. A setting may narrow the forms that are accepted. */
async function tokenIn(trial: Trial, form: DigestForm): Promise<string> {
  if (form !== trial.client.form && trial.client.refusedForms.has(form))
    throw new NotProvokedError(`${form} is not accepted`)
  const { answer, token } = await trial.client.signIn(form, trial.signal)
  if (token !== '') return token
  trial.client.refusedForms.add(form)
  throw new NotProvokedError(`this form is not accepted: ${answer.exchange.came}`)
}

function noSuchForm(error: unknown): undefined {
  if (!(error instanceof NotProvokedError)) throw error
}

/** Requires that a token is accepted. */
async function acceptsToken(trial: Trial, token: string): Promise<void> {
  await trial.acceptedToken('get_room', { room_id: trial.id() }, { token })
}
