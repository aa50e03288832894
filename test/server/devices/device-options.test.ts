import { expect, test } from 'vitest'
import { cameraKey, parseDeviceAddress } from '../../../shared/device-address.ts'
import { parseDeviceOptions, takesOldTls } from '../../../server/devices/device-options.ts'

test('options come as an object or as its JSON text', () => {
  const options = { login_name: 'admin', login_password: 'secret', vendor: { model: 7 } }
  expect(parseDeviceOptions(options)).toEqual(parseDeviceOptions(JSON.stringify(options)))
})

test('the password is stored separately, and unknown keys are kept', () => {
  const parsed = parseDeviceOptions({ login_name: 'admin', login_password: 'secret', vendor: { model: 7 } })
  expect(parsed).toMatchObject({ loginName: 'admin', loginPassword: 'secret' })
  expect(parsed.stored).toEqual({ login_name: 'admin', vendor: { model: 7 } })
})

test.each([undefined, '', '{}', {}])('%j means no options', (given) => {
  expect(parseDeviceOptions(given)).toMatchObject({ loginName: undefined, loginPassword: undefined, stored: {} })
})

test('the login in the substream’s address is removed', () => {
  const parsed = parseDeviceOptions({ assist_address: 'rtsp://admin:secret@nvr/sub' })
  expect(parsed.assistLogin).toEqual({ name: 'admin', password: 'secret' })
  expect(parsed.stored).toEqual({ assist_address: 'rtsp://nvr/sub' })
})

const deep = (levels: number): unknown => (levels === 0 ? 1 : { inner: deep(levels - 1) })

test.each([
  ['{"login_name":', 'not well-formed JSON'],
  ['[]', 'must be a JSON object'],
  ['null', 'must be a JSON object'],
  ['"admin"', 'must be a JSON object'],
  [{ login_name: 7 }, 'login_name must be a text'],
  [{ login_password: { $ne: '' } }, 'login_password must be a text'],
  [{ login_name: 'admin\r\nX: y' }, 'login_name holds a control character'],
  [{ login_name: 'x'.repeat(257) }, 'login_name is longer than 256 bytes'],
  [{ assist_address: 'http://nvr' }, 'assist_address must begin with rtsp://'],
  [{ note: 'x'.repeat(9000) }, 'larger than 8192 bytes'],
  [{ deep: deep(8) }, 'nested deeper than 8'],
  [`{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`, 'nested deeper than 8'],
] as const)('%j is refused: %s', (given, words) => {
  expect(() => parseDeviceOptions(typeof given === 'string' ? given : { ...given })).toThrow(words)
})

test('keys with a meaning in JavaScript are plain keys', () => {
  const parsed = parseDeviceOptions('{"__proto__":{"polluted":true},"constructor":1}')
  expect(JSON.stringify(parsed.stored)).toBe('{"__proto__":{"polluted":true},"constructor":1}')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

test('outdated TLS is accepted only for the value true, and keeps pulls of the camera apart', () => {
  const device = (options: Record<string, unknown>) => ({ options })
  expect([true, false, 'true', 1].map((old_tls) => takesOldTls(device({ old_tls })))).toEqual([
    true,
    false,
    false,
    false,
  ])
  expect(parseDeviceOptions({ old_tls: true }).stored).toEqual({ old_tls: true })
  const keyOf = (url: string, oldTls?: boolean): string =>
    cameraKey({ address: parseDeviceAddress(url), login: undefined, oldTls })
  expect(keyOf('rtsps://camera/live', true)).not.toBe(keyOf('rtsps://camera/live'))
  expect(keyOf('rtsps://camera/live', false)).toBe(keyOf('rtsps://camera/live'))
  expect(keyOf('rtsp://camera/live', true)).toBe(keyOf('rtsp://camera/live'))
})
