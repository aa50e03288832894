import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLog } from '../../../server/observe/log.ts'

function open(level: Parameters<typeof createLog>[0]) {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>)
      done()
    },
  })
  return { lines, log: createLog(level, sink) }
}

test('a line is JSON with a readable level and time', () => {
  const { lines, log } = open('info')
  log.debug('not this')
  log.warn({ port: 7080 }, 'the port is taken')
  expect(lines).toMatchObject([{ level: 'warn', port: 7080, msg: 'the port is taken' }])
  expect(String(lines[0]?.time)).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('an error is logged in full, with its cause', () => {
  const { lines, log } = open('info')
  log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed')
  const [{ err } = {}] = lines
  expect(err).toMatchObject({ message: 'outer', stack: expect.stringContaining('outer'), cause: { message: 'inner' } })
})

test('secrets are redacted by their key, at any depth', () => {
  const { lines, log } = open('info')
  const secrets = {
    access_token: 'TOPSECRET',
    digest: 'TOPSECRET',
    host_password: 'TOPSECRET',
    authorization: 'TOPSECRET',
  }
  log.info(
    {
      ...secrets,
      params: secrets,
      request: { headers: { ...secrets, cookie: 'TOPSECRET', 'set-cookie': 'TOPSECRET' } },
    },
    'x',
  )
  log.info({ credential: { access_key: 'demo_access', secret_key: 'TOPSECRET' } }, 'y')
  expect(JSON.stringify(lines)).not.toContain('TOPSECRET')
  expect(JSON.stringify(lines)).toContain('demo_access')
})

test('an error is logged with its message, and without its input', () => {
  const { lines, log } = open('info')
  const failures: unknown[] = []
  for (const fail of [
    (): unknown => JSON.parse('{"login_password":"TOPSECRET'),
    (): unknown => JSON.parse('TOPSECRET'),
    () => new URL('http://[::1?access_token=TOPSECRET'),
  ]) {
    try {
      fail()
    } catch (error) {
      failures.push(error)
    }
  }
  for (const err of failures) log.error({ err, error: err, deep: { list: [err] } }, 'failed')
  log.error(new AggregateError(failures, 'several', { cause: failures[0] }))
  expect(failures).toHaveLength(3)
  expect(JSON.stringify(lines)).not.toContain('TOPSECRET')
  expect(lines[1]).toMatchObject({ err: { type: 'SyntaxError', stack: expect.stringContaining('log.test.ts') } })
  expect(lines[2]).toMatchObject({ err: { type: 'TypeError', code: 'ERR_INVALID_URL', message: 'Invalid URL' } })
  expect(lines[3]).toMatchObject({ err: { message: 'several', errors: [{}, {}, {}], cause: { type: 'SyntaxError' } } })
})

test.each([
  'rtsp://admin:TOPSECRET@10.0.0.9/live',
  'cannot open rtsp://admin:TOP@SECRET@10.0.0.9/live in time',
  'admin:TOPSECRET@10.0.0.9',
  '//admin:TOPSECRET@10.0.0.9/live',
  'rtsp://TOPSECRET@h',
  'http://10.0.0.8:80/proxy/http://admin:TOPSECRET@10.0.0.9',
  'rtsp:admin:TOPSECRET@h refused',
  'rtsp://10.0.0.9/?password=TOPSECRET&channel=1',
  'GET /user=admin_password=TOPSECRET_channel=1 404',
  '{"login_password":"TOPSECRET"}',
  "{ credential: 'TOPSECRET' }",
  'access_token=TOPSECRET',
  'loginpas: TOPSECRET',
])('a text that holds a secret is logged without it: %s', (text) => {
  const { lines, log } = open('info')
  log.warn({ detail: text, deep: { er: { list: [text] } }, error: text }, text)
  log.warn({ err: new Error(text, { cause: new Error(text) }) }, 'failed')
  log.warn(text)
  expect(lines).toHaveLength(3)
  expect(JSON.stringify(lines)).not.toContain('SECRET')
})

test('a text without secrets is logged unchanged', () => {
  const { lines, log } = open('info')
  const detail =
    'at file:///srv/node_modules/@koa/router/index.js:12:5, see https://example.org/@a, and http://10.0.0.1:80/@b, mail ann@example.org'
  log.info({ detail, at: new Date(0), list: [1, null, true], pid: 7 }, detail)
  expect(lines).toMatchObject([{ detail, at: '1970-01-01T00:00:00.000Z', list: [1, null, true], pid: 7, msg: detail }])
})

test('an address that holds a token is logged without it', () => {
  const { lines, log } = open('info')
  const token = 'dG9wc2VjcmV0'.repeat(4)
  for (const path of [`live/${token}/index.m3u8`, `recorded/${token}/7.mp4`, `record/17-${token}-1.webm`])
    log.warn({ url: `https://rooms.example/${path}` }, `no answer from http://10.0.0.5:7080/${path}`)
  expect(JSON.stringify(lines)).not.toContain(token)
  expect(lines[0]?.url).toBe('https://rooms.example/live/[redacted]/index.m3u8')
  const place = 'file:///opt/roomdesk/server/recordings/live/ordered-lives.ts:10'
  log.warn({ place }, 'failed')
  expect(lines.at(-1)?.place).toBe(place)
})
