import { expect, test } from 'vitest'
import {
  hasIntegrity,
  isStun,
  nominatingRequest,
  readStun,
  successResponse,
} from '../../../../server/media/webrtc/stun.ts'
import { seededRandom } from '../../../../shared/seeded-random.ts'

/** RFC 5769, section 2.1: password VOkJxbRl1RmTxUk/WvJxBt. */
const sample = Buffer.from(
  '000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b151263b36' +
    '000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf',
  'hex',
)
const password = 'VOkJxbRl1RmTxUk/WvJxBt'

test('the sample request of RFC 5769 is read, and only its own password verifies', () => {
  const message = readStun(sample)
  expect(message).toMatchObject({ class: 'request', username: 'evtj:h6vY', nominates: false })
  if (message === undefined) return
  expect(hasIntegrity(sample, message, password)).toBe(true)
  expect(hasIntegrity(sample, message, 'VOkJxbRl1RmTxUk/WvJxBu')).toBe(false)
})

test('written messages can be read, and answers go to the sender', () => {
  const request = nominatingRequest('node:them', password, 0x7fffffff, Buffer.alloc(8, 7))
  const read = readStun(request)
  expect(read).toMatchObject({ class: 'request', username: 'node:them', nominates: true })
  if (read === undefined) return
  expect(hasIntegrity(request, read, password)).toBe(true)
  // RFC 5769, sections 2.2 and 2.3: addresses as written there.
  const transaction = Buffer.from('b7e7a701bc34d686fa87dfae', 'hex')
  const mapped = (address: string): string => {
    const response = successResponse({ ...read, transaction }, { address, port: 32_853 }, password)
    expect(readStun(response)).toMatchObject({ class: 'success' })
    return response.subarray(24, 24 + response.readUInt16BE(22)).toString('hex')
  }
  expect(mapped('192.0.2.1')).toBe('0001a147e112a643')
  expect(mapped('::ffff:192.0.2.1')).toBe('0001a147e112a643')
  expect(mapped('2001:db8:1234:5678:11:2233:4455:6677')).toBe('0002a1470113a9faa5d3f179bc25f4b5bed2b9d9')
  expect(mapped('fe80::1%eth0')).toHaveLength(40)
})

test('other data on the port is not a STUN message, or an invalid one', () => {
  const random = seededRandom(3)
  expect(isStun(Buffer.from('80600001aaaaaaaabbbbbbbbccccccccdddddddd', 'hex'))).toBe(false)
  for (let round = 0; round < 2_000; round++) {
    const broken = Buffer.from(sample)
    for (let times = 0; times < 3; times++) broken[Math.floor(random() * broken.length)] = Math.floor(random() * 256)
    const cut = broken.subarray(0, Math.floor(random() * (broken.length + 1)))
    const message = readStun(cut)
    if (message !== undefined && !cut.subarray(0, 100).equals(sample.subarray(0, 100))) {
      expect(hasIntegrity(cut, message, password)).toBe(false)
    }
  }
})
