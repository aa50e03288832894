import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError } from '../../shared/result-codes.ts'
import { isIPv4, isIPv6 } from 'node:net'
import { asciiOnly, parseDeviceAddress, requestUrlOf, sameAddress } from '../../shared/device-address.ts'

test.each([
  ['rtsp://192.168.1.64', '192.168.1.64', 554],
  ['rtsp://192.168.1.64:8554/h264/ch1/main/av_stream', '192.168.1.64', 8554],
  ['rtsp://10.0.0.9/hikvision://192.168.1.121:8000:0:0', '10.0.0.9', 554],
  ['rtsp://camera-7.site.local/live?channel=1&subtype=0', 'camera-7.site.local', 554],
  ['rtsp://[2001:db8::1]:554/live', '2001:db8::1', 554],
  ['rtsp://[::1]', '::1', 554],
  ['rtsp://[::ffff:10.0.0.9]', '::ffff:10.0.0.9', 554],
  ['rtsp://[fe80::1%eth0]:8554/live', 'fe80::1%eth0', 8554],
  ['rtsp://[fe80::1%25eth0]/live', 'fe80::1%eth0', 554],
  ['rtsps://nvr/live', 'nvr', 554],
  ['RTSP://Camera/Live', 'Camera', 554],
  ['rtsp://nvr:/live', 'nvr', 554],
  ['rtsp://摄像机.example:554/', '摄像机.example', 554],
])('%s is a device address', (address, host, port) => {
  const parsed = parseDeviceAddress(address)
  expect(parsed).toMatchObject({ address, host, port, login: undefined })
})

test.each([
  ['rtsp://admin:12345@192.168.1.64:554/live', 'admin', '12345', 'rtsp://192.168.1.64:554/live'],
  ['rtsp://admin:p@ss:w/rd?#%@192.168.1.64/live?a=1', 'admin', 'p@ss:w/rd?#%', 'rtsp://192.168.1.64/live?a=1'],
  ['rtsp://admin:p@ss/word@camera.local/live', 'admin', 'p@ss/word', 'rtsp://camera.local/live'],
  ['rtsp://admin:12/34@192.168.1.64:554/live', 'admin', '12/34', 'rtsp://192.168.1.64:554/live'],
  ['rtsp://管理员:密码@123@[fe80::1]:8554/', '管理员', '密码@123', 'rtsp://[fe80::1]:8554/'],
  ['rtsp://admin:%E5%AF%86%40%2F@nvr/live', 'admin', '密@/', 'rtsp://nvr/live'],
  ['rtsp://admin:100%@nvr/live', 'admin', '100%', 'rtsp://nvr/live'],
  ['rtsp://admin:%0d%0a@nvr/live', 'admin', '%0d%0a', 'rtsp://nvr/live'],
  ['rtsp://admin@nvr/live', 'admin', '', 'rtsp://nvr/live'],
  ['rtsp://me@corp.example:pw@10.0.0.1/live', 'me@corp.example', 'pw', 'rtsp://10.0.0.1/live'],
  ['rtsps://admin:a:b:c@nvr:322', 'admin', 'a:b:c', 'rtsps://nvr:322'],
])('the login is taken out of %s', (pasted, name, password, address) => {
  expect(parseDeviceAddress(pasted)).toMatchObject({ address, login: { name, password } })
})

test('an @ in the path does not start a login', () => {
  expect(parseDeviceAddress('rtsp://192.168.1.64:554/live@2x?to=a@10.0.0.2')).toMatchObject({
    address: 'rtsp://192.168.1.64:554/live@2x?to=a@10.0.0.2',
    login: undefined,
  })
})

test('an address inside the path stays there with its login', () => {
  const address = 'rtsp://proxy:554/hikvision://admin:pw@192.168.1.121:8000:0:0'
  expect(parseDeviceAddress(address)).toMatchObject({ address, host: 'proxy', login: undefined })
})

test.each([
  ['', 'is empty'],
  ['192.168.1.64:554', 'must begin with rtsp://'],
  ['http://192.168.1.64/live', 'must begin with rtsp://'],
  ['rtsp://', 'has no host'],
  ['rtsp://admin:secret@/live', 'has no host'],
  ['rtsp://192.168.1.300/live', 'malformed IPv4'],
  ['rtsp://192.168.1/live', 'malformed IPv4'],
  ['rtsp://nvr:0/live', 'malformed port'],
  ['rtsp://nvr:65536/live', 'malformed port'],
  ['rtsp://nvr:rtsp/live', 'malformed port'],
  ['rtsp://2001:db8::1/live', 'IPv6 address without brackets'],
  ['rtsp://[2001:db8::zz]/live', 'malformed IPv6'],
  ['rtsp://[fe80::1%]/live', 'malformed IPv6'],
  ['rtsp://[fe80::1%a%b]/live', 'malformed IPv6'],
  ['rtsp://0x7f.0x1/live', 'malformed host name'],
  ['rtsp://2130706433/live', 'malformed IPv4'],
  ['rtsp://0177.0.0.1/live', 'malformed IPv4'],
  ['rtsp://bad host/live', 'malformed host name'],
  ['rtsp://-nvr/live', 'malformed host name'],
  ['rtsp://nvr/a b', 'space in its path'],
  ['rtsp://nvr/\r\nX: y', 'cannot be in an address'],
  ['rtsp://nvr/\ud800', 'cannot be in an address'],
  [`rtsp://nvr/${'x'.repeat(1024)}`, 'longer than 1024 bytes'],
])('%j is refused in plain words: %s', (address, words) => {
  expect(() => parseDeviceAddress(address)).toThrow(words)
})

test('a refusal never quotes the pasted text', () => {
  try {
    parseDeviceAddress('rtsp://admin:hunter2@300.300.300.300/hunter2')
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    expect(String(error)).not.toContain('hunter2')
  }
})

test.each([
  ['rtsp://cam', 'rtsp://cam'],
  ['RTSP://Cam:/Live', 'rtsp://cam/Live'],
  ['rtsp://a:b@10.0.0.9/hikvision://192.168.1.121:8000:0:0', 'rtsp://10.0.0.9/hikvision://192.168.1.121:8000:0:0'],
  ['rtsps://[fe80::1%25eth0]:8322/x', 'rtsps://[fe80::1]:8322/x'],
  ['rtsp://Bücher.example/门口', 'rtsp://xn--bcher-kva.example/%E9%97%A8%E5%8F%A3'],
  ['rtsp://cam/a/../b?q="%20#f', 'rtsp://cam/a/../b?q="%20#f'],
])('a camera at %s is asked for %s', (address, url) => {
  expect(parseDeviceAddress(address).requestUrl).toBe(url)
})

test.each([
  ['rtsp://NVR.local/live', 'rtsp://nvr.local:554/live', true],
  ['RTSPS://nvr', 'rtsps://nvr:554/', true],
  ['rtsp://[0:0:0:0:0:0:0:1]/a', 'rtsp://[::1]:554/a', true],
  ['rtsp://nvr?x=1', 'rtsp://nvr/?x=1', true],
  ['rtsp://nvr/live', 'rtsp://nvr/Live', false],
  ['rtsp://nvr/live', 'rtsp://nvr:8554/live', false],
  ['rtsp://nvr/live', 'rtsps://nvr:554/live', false],
])('%s and %s are the same address: %s', (one, other, same) => {
  expect(sameAddress(one, other)).toBe(same)
})

const letters = 'abcXYZ019-_.~!$&*()密码é'
const nasty = `${letters}@:/?#%+ ="'`
const text = (alphabet: string, minLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength: 20 })
const hosts = fc.oneof(
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
)
const ports = fc.option(fc.integer({ min: 1, max: 65_535 }))
const paths = fc.oneof(
  fc.constantFrom('', '/', '/h264/ch1/main/av_stream', '/hikvision://192.168.1.121:8000:0:0', '/live?channel=1&user=x'),
  fc.webPath(),
)

/** Removes `%`: the parser decodes valid escapes, and leaves a text without `%` unchanged. */
const withoutEscapes = (value: string) => value.replaceAll('%', '')

test('host, port, path and login are parsed with any password', () => {
  fc.assert(
    fc.property(
      text(letters, 1),
      text(nasty, 0).map(withoutEscapes),
      hosts,
      ports,
      paths.filter((path) => !path.includes('@')),
      (name, password, host, port, path) => {
        // A password that looks like a path with an address inside has to be escaped.
        fc.pre(!/[/?#](.*[&=/?#])?[a-z][a-z\d+.-]*:\/\//i.test(password))
        const place = port === null ? host : `${host}:${port}`
        const parsed = parseDeviceAddress(`rtsp://${name}:${password}@${place}${path}`)
        expect(parsed.address).toBe(`rtsp://${place}${path}`)
        expect(parsed.login).toEqual({ name, password })
        expect(parsed.port).toBe(port ?? 554)
      },
    ),
    { numRuns: 2_000, examples: [['&a9', '//', '[::]', null, '']] },
  )
})

test('an escaped login reads back unchanged, with any host', () => {
  const anyText = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !/\p{Cc}/u.test(value))
  fc.assert(
    fc.property(anyText, anyText, fc.oneof(hosts, fc.domain()), ports, (name, password, host, port) => {
      fc.pre(name !== '' || password !== '')
      const login = `${encodeURIComponent(name)}:${encodeURIComponent(password)}`
      const parsed = parseDeviceAddress(`rtsp://${login}@${host}${port === null ? '' : `:${port}`}/live`)
      expect(parsed.login).toEqual({ name, password })
      expect(parsed.host).toBe(host.replace(/^\[|\]$/g, ''))
    }),
    { numRuns: 1_000 },
  )
})

test('an address without its login has none, however often it is parsed', () => {
  const junk = fc.string({ unit: fc.constantFrom(...'ab1.@:/?#%[]密'), maxLength: 40 })
  fc.assert(
    fc.property(fc.constantFrom('rtsp://', 'rtsps://'), junk, (scheme, rest) => {
      let parsed: ReturnType<typeof parseDeviceAddress>
      try {
        parsed = parseDeviceAddress(scheme + rest)
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError)
        return
      }
      const again = parseDeviceAddress(parsed.address)
      expect(again).toEqual({ ...parsed, login: undefined })
      expect(sameAddress(parsed.address, scheme + rest)).toBe(true)
    }),
    { numRuns: 4_000 },
  )
})

const zones = fc.tuple(fc.ipV6(), text('abc019_.-', 1), fc.constantFrom('%', '%25'))
const anyHosts = fc.oneof(
  hosts,
  fc.domain(),
  zones.map(([address, zone, sign]) => `[${address}${sign}${zone}]`),
)
const schemes = fc.constantFrom('rtsp', 'rtsps', 'RTSP', 'rtspS')

test('the node connects to the stored address: it names the same host, port and stream, without the login', () => {
  fc.assert(
    fc.property(schemes, anyHosts, ports, paths, text(letters, 6), (scheme, host, port, path, password) => {
      const place = `${host}${port === null ? '' : `:${port}`}${path}`
      const given = parseDeviceAddress(`${scheme}://admin:${password}@${place}`)
      const taken = parseDeviceAddress(given.address)
      expect(taken).toEqual({ ...given, login: undefined })
      expect(given).toMatchObject({ port: port ?? 554, secure: scheme.toLowerCase() === 'rtsps' })
      for (const shown of [given.canonical, given.requestUrl]) {
        expect(sameAddress(shown, given.address.replace(/%[^\]]*\]/, ']')) || host.includes('%')).toBe(true)
        expect(parseDeviceAddress(shown).login).toBeUndefined()
      }
    }),
    { numRuns: 1_000 },
  )
})

test('no stored, requested or displayed text contains any part of a login', () => {
  fc.assert(
    fc.property(schemes, anyHosts, ports, (scheme, host, port) => {
      const place = `${host}${port === null ? '' : `:${port}`}/live`
      const found = parseDeviceAddress(`${scheme}://Operator~7:Geheim~99@${place}`)
      expect(found.login).toEqual({ name: 'Operator~7', password: 'Geheim~99' })
      expect(JSON.stringify({ ...found, login: undefined })).not.toMatch(/operator~7|geheim~99/i)
      expect(requestUrlOf(`${scheme}://Operator~7:Geheim~99@${place}`)).not.toMatch(/operator~7|geheim~99/i)
    }),
    { numRuns: 500 },
  )
})

test('a request URL is one word of ASCII with any name of a camera', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (rest) => {
      expect(asciiOnly(rest)).toMatch(/^[!-~]*$/)
      const url = requestUrlOf(`rtsp://cam/${rest}`)
      if (url !== undefined) expect(url).toMatch(/^rtsps?:\/\/[!-~]+$/)
    }),
    { numRuns: 1_000 },
  )
})

test('the console finds the same IP addresses as a socket does', () => {
  const octets = fc.array(fc.oneof(fc.nat(300), fc.constantFrom('01', '', '0x1')), { minLength: 3, maxLength: 5 })
  fc.assert(
    fc.property(
      octets.map((parts) => parts.join('.')),
      (host) => accepted(`rtsp://${host}/`) === isIPv4(host),
    ),
  )
  const groups = fc.array(fc.constantFrom('', '0', 'ff', '12345', '1.2.3.4', '::', 'g'), { maxLength: 9 })
  fc.assert(
    fc.property(
      groups.map((parts) => parts.join(':')),
      (host) => accepted(`rtsp://[${host}]/`) === isIPv6(host),
    ),
  )
})

function accepted(address: string): boolean {
  try {
    parseDeviceAddress(address)
    return true
  } catch {
    return false
  }
}

test('the longest address is parsed at once, whatever it contains', () => {
  for (const piece of ['@', ':@', 'a:@', '[', '%', 'x.', '://', '/a://@']) {
    const address = `rtsp://a:${piece.repeat(1_000)}`.slice(0, 1_020)
    const started = performance.now()
    accepted(address)
    expect(performance.now() - started).toBeLessThan(50)
  }
})
