import { expect, test } from 'vitest'
import { TrafficRecorder } from '../../../server/lab/traffic/recorder.ts'
import { readTraffic } from '../../../server/lab/traffic/format.ts'
import { allOperations } from '../../../shared/operations.ts'
import { canaryOf, sampleAnswer } from '../../support/sample-answer.ts'
import { observation } from '../observe/observation.ts'

/** Records one call. */
function recorded(fields: Parameters<typeof observation>[0]) {
  const recorder = new TrafficRecorder('1.2.3')
  recorder.begin(60_000)
  recorder.observe(observation(fields))
  recorder.end()
  return recorder
}

/** Paths of the fields that the contract calls secret. */
function secretsOf(disclosure: unknown, path: readonly string[] = []): string[] {
  if (disclosure === 'secret') return [path.join('.')]
  if (typeof disclosure !== 'object' || disclosure === null || Array.isArray(disclosure)) return []
  return Object.entries(disclosure).flatMap(([name, inner]) =>
    secretsOf(inner, name === 'fields' ? path : [...path, name]),
  )
}

test.each(allOperations)('A recording of $name contains no secret of a request or an answer', (operation) => {
  const tokens = operation.token ?? []
  const values = [...tokens, ...Object.keys(operation.disclosure)].map((name) => [name, canaryOf(name)] as const)
  const answer = { ret: 0, msg: canaryOf('msg'), ...Object(sampleAnswer(operation.success)) }
  const { text } = recorded({
    operation: operation.name,
    params: new Map<string, unknown>([...values, ['password', canaryOf('password')]]),
    text: JSON.stringify(answer),
  })
  const secrets = [...tokens, ...secretsOf(operation.disclosure), 'password', 'msg', ...secretsOf(operation.answer)]
  expect(secrets.filter((path) => text.includes(canaryOf(path)))).toEqual([])
  expect(readTraffic(text)).toHaveLength(1)
})

test('A camera is recorded without its login, and without parts of the path that may be one', () => {
  const address = 'rtsp://admin:hunter2@10.0.0.9:554/live/user=admin_password=hunter2?token=hunter2'
  const options = JSON.stringify({
    login_name: 'admin',
    login_password: 'hunter2',
    assist_address: address,
    other: 'hunter2',
  })
  const { text } = recorded({
    operation: 'create_outgoing_user',
    params: new Map(Object.entries({ roomId: '7', userId: 'yard', userAddress: address, options })),
  })
  expect(text).not.toContain('hunter2')
  expect(readTraffic(text)[0]?.params).toMatchObject({
    roomId: '7',
    userId: 'yard',
    userAddress: 'rtsp://10.0.0.9:554/live',
  })
})

test('An address whose login may reach into its host is left out', () => {
  const { text } = recorded({
    operation: 'destroy_outgoing_user',
    params: new Map(
      Object.entries({ roomId: '7', userId: 'yard', userAddress: 'rtsp://admin:hunter2@x.hunter3@cam.example/live' }),
    ),
  })
  expect(text).not.toMatch(/hunter/)
  expect(readTraffic(text)[0]?.params).toMatchObject({ userAddress: { left_out: 'secret' } })
})

test('Nothing is recorded before the start, after the end, or of a path that is no operation', () => {
  const recorder = new TrafficRecorder('1.2.3')
  recorder.observe(observation())
  expect(recorder.state).toMatchObject({ began_at: 0, running: false, calls: 0 })
  expect(recorder.text).toBe('')
  recorder.begin(60_000)
  recorder.observe(observation())
  recorder.observe(observation({ operation: '', path: '/secret' }))
  expect(recorder.state).toMatchObject({ running: true, calls: 1, skipped: 1 })
  recorder.end()
  recorder.observe(observation())
  expect(recorder.state).toMatchObject({ running: false, calls: 1, full: false })
})

test.each([
  ['', 'Line 1 is not the head of recorded traffic.'],
  [
    '{"format":"roomdesk-traffic","version":1,"began_at":1,"product":"1"}\n{"at":-1}',
    'Line 2 is not a recorded call (at).',
  ],
  ['{"format":"roomdesk-traffic","version":1,"began_at":1,"product":"1"}\nnot json', 'Line 2 is not a recorded call.'],
])('A file that is no recording is refused with the line: %j', (text, sentence) => {
  expect(() => readTraffic(text)).toThrow(sentence)
})
