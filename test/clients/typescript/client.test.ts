import { describe, expect, test, vi } from 'vitest'
import { NoAnswerError, ResultError, RoomdeskClient, sign, type Signer } from '../../../clients/typescript/src/index.ts'

type Answer = Record<string, unknown> & { ret: number }
/** Answer to a request; an error: none; a text: a body that is not JSON, of a proxy. */
type Reply = Answer | Error | string

const room = { topic: 'Morning', owner_id: 'me', room_mode: 1 }

/** A client of a server whose answers to all calls but authentication are given. */
function clientOf(replies: readonly Reply[], signer: Signer = { secretKey: 'demo_secret' }) {
  /** Addresses of the requests. */
  const requests: URL[] = []
  let sessions = 0
  const left = [...replies]
  const reply = (url: URL): Reply => {
    if (url.pathname.endsWith('/rtc/auth/valid')) return { ret: 0, random: `random ${(sessions += 1)}`, key: 'key' }
    return left.shift() ?? { ret: 0 }
  }
  const client = new RoomdeskClient({
    media: 'http://media.example/base/',
    device: 'http://device.example',
    accessKey: 'demo_access',
    ...signer,
    fetch: async (input) => {
      const url = new URL(input instanceof Request ? input.url : input)
      requests.push(url)
      const next = reply(url)
      if (next instanceof Error) throw next
      return typeof next === 'string' ? new Response(next, { status: 502 }) : Response.json(next)
    },
  })
  const paths = () => requests.map(({ pathname }) => pathname.replace(/^.*\//, ''))
  return { client, requests, paths }
}

describe('signatures', () => {
  // Printed by a public SDK and by openssl alike (contract, section 2).
  test('a digest is the base64 of the hexadecimal HMAC', async () => {
    expect(await sign('sha1-hex', 'demo_secret', 'demo_access')).toBe(
      'MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==',
    )
    expect(await sign('sha256-raw', 'demo_secret', 'demo_access')).toMatch(/^[\w+/]{43}=$/)
  })

  test('a + of a digest or token is escaped', async () => {
    const { client, requests } = clientOf([], { sign: () => 'a+b/c=' })
    await client.getRoom({ room_id: '1' })
    expect(requests.map(({ search }) => search)).toEqual([
      '?access_key=demo_access&digest=a%2Bb%2Fc%3D',
      '?room_id=1&access_token=a%2Bb%2Fc%3D',
    ])
  })

  test('a page without WebCrypto gets an explanation', async () => {
    vi.stubGlobal('crypto', {})
    try {
      await expect(clientOf([]).client.signIn()).rejects.toThrow('WebCrypto needs HTTPS or localhost')
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('the session', () => {
  test('calls at the same time sign in once, and share the token', async () => {
    const { client, requests, paths } = clientOf([])
    await Promise.all([client.getRoom({ room_id: '1' }), client.listOutgoingUsers()])
    expect(paths()).toEqual(['valid', 'get', 'getOutgoingUsers'])
    const token = await sign('sha1-hex', 'demo_secret', 'random 1:key')
    expect(requests[1]?.href).toContain('http://media.example/base/rtc/room/get?')
    expect(requests[1]?.searchParams.get('access_token')).toBe(token)
    expect(requests[2]?.searchParams.get('accessToken')).toBe(token)
  })

  test('a call whose token is refused signs in again and is repeated, also if it changes something', async () => {
    const { client, requests, paths } = clientOf([
      { ret: 602, msg: 'Expired.' },
      { ret: 0, room_id: '7' },
    ])
    expect(await client.createRoom(room)).toEqual({ room_id: '7' })
    expect(paths()).toEqual(['valid', 'create', 'valid', 'create'])
    expect(requests[3]?.searchParams.get('access_token')).toBe(await sign('sha1-hex', 'demo_secret', 'random 2:key'))
  })

  test('a call whose second token is refused, too, fails', async () => {
    const { client, paths } = clientOf([{ ret: 602 }, { ret: 602, msg: 'Expired.' }])
    await expect(client.createRoom(room)).rejects.toMatchObject({ ret: 602, message: 'Expired.' })
    expect(paths()).toEqual(['valid', 'create', 'valid', 'create'])
  })

  test('on the device API, the media API says whether 401 is the token or a parameter', async () => {
    const renewed = clientOf([{ ret: 401 }, { ret: 602 }, { ret: 0, data: { total: 0, items: [] } }])
    await renewed.client.listOutgoingUsers()
    expect(renewed.paths()).toEqual(['valid', 'getOutgoingUsers', 'get', 'valid', 'getOutgoingUsers'])
    const wrong = clientOf([{ ret: 401, msg: 'roomId is wrong.' }, { ret: 404 }])
    await expect(wrong.client.listOutgoingUsers({ roomId: '' })).rejects.toThrow('roomId is wrong.')
    expect(wrong.paths()).toEqual(['valid', 'getOutgoingUsers', 'get'])
  })

  test('the next call signs in after a failure', async () => {
    const secrets = [Promise.reject(new Error('offline')), 'digest', 'token']
    const { client } = clientOf([], { sign: () => secrets.shift() ?? '' })
    await expect(client.getRoom({ room_id: '1' })).rejects.toThrow('offline')
    await client.getRoom({ room_id: '1' })
  })
})

describe('calls without an answer', () => {
  test('a call that may be repeated is sent up to three times', async () => {
    const { client, paths } = clientOf([new TypeError('reset'), { ret: 409, msg: 'Busy.' }, { ret: 0, user_list: [] }])
    expect(await client.listUsers({ room_id: '1' })).toEqual({ user_list: [] })
    expect(paths()).toEqual(['valid', 'get_room_info', 'get_room_info', 'get_room_info'])
  })

  test.for<[string, Reply]>([
    ['a lost connection', new TypeError('reset')],
    ['the page of a proxy', '<h1>Bad gateway</h1>'],
    ['JSON of something else', JSON.stringify({ error: 1 })],
  ])('a call that changes something is sent once: %s', async ([, reply]) => {
    const { client, paths } = clientOf([reply])
    await expect(client.createRoom(room)).rejects.toThrow(NoAnswerError)
    expect(paths()).toEqual(['valid', 'create'])
  })

  test('a call ends after its time, and with its signal', async () => {
    const never: typeof fetch = (_, options) =>
      new Promise((_resolve, reject) => {
        const { signal } = options ?? {}
        signal?.addEventListener('abort', () => reject(signal.reason))
        if (signal?.aborted === true) reject(signal.reason)
      })
    const addresses = { media: 'http://media.example', device: 'http://device.example', accessKey: 'a' }
    const client = new RoomdeskClient({ ...addresses, sign: () => '', timeoutMs: 20, fetch: never })
    const parameters = { access_key: 'a', digest: '' }
    await expect(client.authenticate(parameters)).rejects.toThrow('no answer within 0.02 s')
    await expect(client.authenticate(parameters, AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
    const leaving = new AbortController()
    const call = client.authenticate(parameters, leaving.signal)
    setTimeout(() => leaving.abort(new Error('left later')), 50)
    await expect(call).rejects.toThrow('left later')
  })
})

test('a refusal has the code and the sentence of the server, and compares with the errors of its API', async () => {
  const { client } = clientOf([{ ret: 404, msg: 'There is no such room.' }, { ret: 425 }, { ret: 99 }])
  const failure = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
  const missing = await failure(client.deleteRoom({ room_id: '1' }))
  expect(missing).toBeInstanceOf(ResultError)
  expect(missing).toMatchObject({ ret: 404, operation: 'deleteRoom', message: 'There is no such room.' })
  expect(missing instanceof ResultError && missing.is('roomNotFound') && !missing.is('userNotOnline')).toBe(true)
  const door = { roomId: '1', userId: 'door', userAddress: 'rtsp://192.0.2.10' }
  const absent = await failure(client.destroyOutgoingUser(door))
  expect(absent instanceof ResultError && absent.is('outgoingUserNotFound') && !absent.is('roomNotFound')).toBe(true)
  expect(await failure(client.getRoom({ room_id: '1' }))).toMatchObject({ ret: 99, message: 'result code 99' })
})
