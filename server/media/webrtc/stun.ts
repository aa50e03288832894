import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import net from 'node:net'
import { crc32 } from 'node:zlib'

/** Binding messages of ICE (RFC 8445, section 7; RFC 8489): the part of STUN that two ICE agents use. */

type StunClass = 'request' | 'success' | 'other'

/** A received binding message whose integrity is not verified yet. */
export interface StunMessage {
  class: StunClass
  transaction: Buffer
  /** USERNAME; empty: the message has none. */
  username: string
  /** USE-CANDIDATE: the controlling agent nominates this pair. */
  nominates: boolean
  /** Offset of MESSAGE-INTEGRITY; -1 for none. */
  integrityAt: number
}

/** User fragment and password of one agent in one ICE session (RFC 8445, section 5.3). */
export interface IceCredentials {
  userFragment: string
  password: string
}

const cookie = 0x2112a442
const fingerprintMask = 0x5354554e
const headerBytes = 20
const classes: ReadonlyMap<number, StunClass> = new Map([
  [0x0001, 'request'],
  [0x0101, 'success'],
])
const attributes = {
  username: 0x0006,
  integrity: 0x0008,
  mappedAddress: 0x0020,
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  controlled: 0x8029,
  controlling: 0x802a,
} as const

/** Whether a datagram is STUN, among the protocols that share the port (RFC 7983, section 7). */
export function isStun(packet: Buffer): boolean {
  return packet.length >= headerBytes && (packet[0] ?? 255) < 4 && packet.readUInt32BE(4) === cookie
}

/** Reads a STUN message. Returns undefined if its lengths are wrong. */
export function readStun(packet: Buffer): StunMessage | undefined {
  if (!isStun(packet) || packet.readUInt16BE(2) + headerBytes !== packet.length || packet.length % 4 !== 0)
    return undefined
  const message: StunMessage = {
    class: classes.get(packet.readUInt16BE(0)) ?? 'other',
    transaction: packet.subarray(8, headerBytes),
    username: '',
    nominates: false,
    integrityAt: -1,
  }
  for (let at = headerBytes; at < packet.length; ) {
    const length = packet.readUInt16BE(at + 2)
    const value = packet.subarray(at + 4, at + 4 + length)
    if (value.length !== length) return undefined
    const type = packet.readUInt16BE(at)
    if (type === attributes.integrity) {
      // MESSAGE-INTEGRITY does not protect later attributes (RFC 8489, section 14.5).
      return length === 20 ? { ...message, integrityAt: at } : undefined
    }
    if (type === attributes.username) message.username = value.toString('utf8')
    else if (type === attributes.useCandidate) message.nominates = true
    at += 4 + length + (-length & 3)
  }
  return message
}

/** Whether the message was signed with this password. */
export function hasIntegrity(packet: Buffer, { integrityAt }: StunMessage, password: string): boolean {
  if (integrityAt < 0) return false
  const covered = Buffer.from(packet.subarray(0, integrityAt))
  covered.writeUInt16BE(integrityAt + 24 - headerBytes, 2)
  return timingSafeEqual(hmac(covered, password), packet.subarray(integrityAt + 4, integrityAt + 24))
}

/**
 * Builds a check of the controlling agent that nominates its pair.
 * @param username the other agent's user fragment, a colon, the own user fragment
 * @param password the other agent's password
 * @param priority priority of the peer-reflexive candidate that the other agent derives from the check (RFC 8445,
 *   section 7.1.1)
 * @param tieBreaker 8 bytes
 */
export function nominatingRequest(username: string, password: string, priority: number, tieBreaker: Buffer): Buffer {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(priority)
  return sealed(
    0x0001,
    randomBytes(12),
    [
      attribute(attributes.username, Buffer.from(username)),
      attribute(attributes.priority, value),
      attribute(attributes.controlling, tieBreaker),
      attribute(attributes.useCandidate, Buffer.alloc(0)),
    ],
    password,
  )
}

/**
 * Builds a check of the controlled agent. A peer that answers it receives packets at the checked address (RFC 8445,
 * section 7.3.1.4).
 * @param transaction 12 bytes, which identify the answer
 * @param username the other agent's user fragment, a colon, the own user fragment
 * @param password the other agent's password
 * @param tieBreaker 8 bytes
 */
export function returnCheck(transaction: Buffer, username: string, password: string, tieBreaker: Buffer): Buffer {
  const parts = [
    attribute(attributes.username, Buffer.from(username)),
    attribute(attributes.priority, Buffer.alloc(4, 0x7e)),
    attribute(attributes.controlled, tieBreaker),
  ]
  return sealed(0x0001, transaction, parts, password)
}

/** Builds the answer to a check, which contains the check's source address. */
export function successResponse(
  { transaction }: StunMessage,
  from: { address: string; port: number },
  password: string,
): Buffer {
  const mapped = attribute(attributes.mappedAddress, xorAddress(from.address, from.port, transaction))
  return sealed(0x0101, transaction, [mapped], password)
}

/** Encodes XOR-MAPPED-ADDRESS (RFC 8489, section 14.2). */
function xorAddress(address: string, port: number, transaction: Buffer): Buffer {
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const bytes = net.isIPv4(unmapped) ? Buffer.from(unmapped.split('.').map(Number)) : v6Bytes(unmapped)
  const mask = Buffer.alloc(16)
  mask.writeUInt32BE(cookie)
  transaction.copy(mask, 4)
  const value = Buffer.alloc(4 + bytes.length)
  value[1] = bytes.length === 4 ? 1 : 2
  value.writeUInt16BE(port ^ (cookie >>> 16), 2)
  for (const [index, byte] of bytes.entries()) value[4 + index] = byte ^ (mask[index] ?? 0)
  return value
}

function v6Bytes(address: string): Buffer {
  // The URL parser normalizes every spelling.
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [first, last] = [groups(head), groups(tail)]
  const bytes = Buffer.alloc(16)
  for (const [index, group] of first.entries()) bytes.writeUInt16BE(group, 2 * index)
  for (const [index, group] of last.entries()) bytes.writeUInt16BE(group, 16 - 2 * (last.length - index))
  return bytes
}

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + value.length + (-value.length & 3))
  bytes.writeUInt16BE(type)
  bytes.writeUInt16BE(value.length, 2)
  value.copy(bytes, 4)
  return bytes
}

/** Appends MESSAGE-INTEGRITY and FINGERPRINT. The length field includes each attribute when it is computed. */
function sealed(type: number, transaction: Buffer, parts: readonly Buffer[], password: string): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(type)
  header.writeUInt32BE(cookie, 4)
  transaction.copy(header, 8)
  const body = Buffer.concat([header, ...parts])
  body.writeUInt16BE(body.length + 24 - headerBytes, 2)
  const signed = Buffer.concat([body, attribute(attributes.integrity, hmac(body, password))])
  signed.writeUInt16BE(signed.length + 8 - headerBytes, 2)
  const fingerprint = Buffer.alloc(4)
  fingerprint.writeUInt32BE((crc32(signed) ^ fingerprintMask) >>> 0)
  return Buffer.concat([signed, attribute(attributes.fingerprint, fingerprint)])
}

function hmac(bytes: Buffer, password: string): Buffer {
  return createHmac('sha1', password).update(bytes).digest()
}
