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

test('an error is logged whole, with its cause', () => {
  const { lines, log } = open('info')
  log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed')
  const [{ err } = {}] = lines
  expect(err).toMatchObject({ message: 'outer', stack: expect.stringContaining('outer'), cause: { message: 'inner' } })
})

test('secrets are redacted by their key, wherever they are', () => {
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
