import { createHash } from 'node:crypto'
import type { Caller, Script } from '../support/camera/hostile-camera.ts'
import type { SeenRequest } from '../support/camera/scripted-camera.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import { always } from '../support/camera/hostile-case.ts'

const login = { name: 'admin', password: 'secret' }
const basic = `Basic ${Buffer.from('admin:secret').toString('base64')}`

/** Value of a field of an Authorization header, quoted or not. */
const valueOf = (header: string, name: string): string =>
  new RegExp(`[ ,]${name}="?([^",]*)"?`, 'i').exec(header)?.[1] ?? ''

/** Whether a digest is right for a nonce (RFC 2617, section 3.2.2; RFC 7616). */
function isRight(
  { method, headers }: SeenRequest,
  nonce: string,
  algorithm: 'md5' | 'sha256' | 'sha512-256' = 'md5',
): boolean {
  const field = headers.get('authorization') ?? ''
  const hash = (text: string): string => createHash(algorithm).update(text).digest('hex')
  const secret = hash(`admin:${valueOf(field, 'realm')}:secret`)
  const asked = hash(`${method}:${valueOf(field, 'uri')}`)
  const [qop, count, client] = ['qop', 'nc', 'cnonce'].map((name) => valueOf(field, name))
  const middle = qop === '' ? nonce : `${nonce}:${count}:${client}:${qop}`
  return /^digest /i.test(field) && valueOf(field, 'response') === hash(`${secret}:${middle}:${asked}`)
}

/** Asks for a login until it is right. */
const asking = (
  challenge: string | readonly string[],
  isLogin: (request: SeenRequest) => boolean,
  before: (caller: Caller) => void = () => {},
): Script =>
  always((caller, request) => {
    if (isLogin(request)) return caller.usual(request)
    caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': challenge }, body: '' })
    before(caller)
  })

const digest = (nonce = 'n1', more = ''): string => `Digest realm="camera", nonce="${nonce}"${more}`

/** Asks each keep-alive for a new nonce, and closes the connection where none is right for three seconds. @param more parameters of the challenge */
function renewing(more: string): Script {
  const keptAt = new WeakMap<Caller, number>()
  let number = 1
  let isNew = false
  return {
    ...asking(digest(), (request) => isRight(request, 'n1')),
    SETUP: (caller, request) => {
      keptAt.set(caller, performance.now())
      caller.setUp(request, { headers: { Session: '5;timeout=2' } })
      caller.every(500, () => {
        if (performance.now() - (keptAt.get(caller) ?? 0) > 3_000) caller.socket.destroy()
      })
    },
    GET_PARAMETER: (caller, request) => {
      const isKept = isNew && isRight(request, `n${number}`)
      isNew = !isKept
      if (isKept) {
        keptAt.set(caller, performance.now())
        return caller.answer(request)
      }
      number += 1
      const challenge = digest(`n${number}`, more)
      caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': challenge }, body: '' })
    },
  }
}

/** Forms of the login of RFC 2617 and RFC 7616. */
const forms: readonly FieldCase[] = [
  {
    quirk: 'Basic',
    source: 'many cameras',
    script: asking('Basic realm="/"', ({ headers }) => headers.get('authorization') === basic),
  },
  { quirk: 'Digest', source: 'most cameras', script: asking(digest(), (request) => isRight(request, 'n1')) },
  {
    quirk: 'Digest with SHA-256 only',
    source: 'cameras of 2023 and later, hardened',
    script: asking(digest('n1', ', algorithm=SHA-256, qop="auth"'), (request) => isRight(request, 'n1', 'sha256')),
  },
  {
    quirk: 'Digest with MD5 and SHA-256 in two fields',
    source: 'Axis, Bosch',
    script: asking(
      [digest('n1', ', algorithm=SHA-256, qop="auth"'), digest('n1', ', algorithm=MD5')],
      (request) => isRight(request, 'n1', 'sha256') || isRight(request, 'n1'),
    ),
  },
  {
    quirk: 'Digest and Basic in one field',
    source: 'servers that join fields',
    script: asking(`${digest()}, Basic realm="camera"`, (request) => isRight(request, 'n1')),
  },
  {
    quirk: 'Basic and Digest in two fields',
    source: 'Hikvision with both switched on',
    script: asking(['Basic realm="x"', digest()], (request) => isRight(request, 'n1')),
  },
  {
    quirk: 'a scheme that nobody knows beside Digest',
    source: 'cameras in a domain: Negotiate, Digest',
    script: asking(['Negotiate', digest()], (request) => isRight(request, 'n1')),
  },
  {
    quirk: 'Digest without quotes',
    source: 'hand-written servers',
    script: asking('Digest realm=camera,nonce=n1', (request) => isRight(request, 'n1')),
  },
  {
    quirk: 'Digest in other letters and spaces',
    source: 'hand-written servers',
    script: asking('DIGEST  Realm = "camera" ,  Nonce = "n1" , Algorithm = "md5" , stale="FALSE"', (request) =>
      isRight(request, 'n1'),
    ),
  },
  {
    quirk: 'Digest with an empty realm',
    source: 'cheap cameras',
    script: asking('Digest realm="", nonce="n1"', (request) => isRight(request, 'n1')),
  },
  {
    quirk: 'Digest with an opaque and a domain',
    source: 'Live555 derivatives',
    script: asking(
      digest('n1', ', opaque="abc", domain="/"'),
      (request) => isRight(request, 'n1') && valueOf(request.headers.get('authorization') ?? '', 'opaque') === 'abc',
    ),
  },
  {
    quirk: 'the nonce goes stale between requests',
    source: 'cameras with nonces of one use',
    script: always((caller, request) => {
      const number = caller.requests.length
      if (isRight(request, `n${number - 1}`) && number % 2 === 0) return caller.usual(request)
      const challenge = digest(`n${number}`, ', stale=TRUE')
      caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': challenge }, body: '' })
    }),
  },
  {
    quirk: 'each keep-alive is asked for a new nonce, which is not called stale',
    source: 'Axis',
    playsMs: 5_000,
    script: renewing(''),
  },
  {
    quirk: 'each keep-alive is asked for a new nonce, because the old one is stale',
    source: 'Axis',
    playsMs: 5_000,
    script: renewing(', stale=true'),
  },
  {
    quirk: 'the connection is closed behind each challenge',
    source: 'report at go2rtc: Connection: close with 401',
    script: {
      DESCRIBE: (caller, request) => {
        if (isRight(request, 'n1')) return caller.usual(request)
        caller.answer(request, {
          status: 401,
          headers: { 'WWW-Authenticate': digest(), Connection: 'close' },
          body: '',
        })
        caller.socket.end()
      },
    },
  },
  {
    quirk: 'the challenge is a page',
    source: 'cameras that send a page with 401',
    script: {
      DESCRIBE: (caller, request) =>
        isRight(request, 'n1')
          ? caller.usual(request)
          : caller.answer(request, {
              status: 401,
              headers: { 'WWW-Authenticate': digest(), 'Content-Type': 'text/html' },
              body: '<html>401 Unauthorized</html>',
            }),
    },
  },
  {
    quirk: 'the login is asked for with SETUP first',
    source: 'cameras that describe themselves to everybody',
    script: {
      SETUP: (caller, request) =>
        isRight(request, 'n1')
          ? caller.usual(request)
          : caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': digest() }, body: '' }),
    },
  },
  {
    quirk: 'OPTIONS is refused with the login, too, and without a challenge then',
    source: 'small encoders that have no right for OPTIONS',
    script: {
      ...asking(digest(), (request) => isRight(request, 'n1')),
      OPTIONS: (caller, request) =>
        caller.answer(request, {
          status: 401,
          headers: isRight(request, 'n1') ? {} : { 'WWW-Authenticate': digest() },
        }),
    },
  },
  {
    quirk: 'the login is wrong',
    source: 'every camera',
    script: asking(digest(), () => false),
    expected: { refused: ['auth'] },
  },
]

/** Cameras that ask for a login in one of these forms. */
export const loginCases: FieldCase[] = forms.map((each) => ({ login, ...each, quirk: `login: ${each.quirk}` }))
