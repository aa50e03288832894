import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeDtlsCertificate } from '../../../../server/media/webrtc/dtls-certificate.ts'

test('the certificate of the node parses, and is signed with its own key', () => {
  const now = Date.UTC(2026, 10, 22, 1, 2, 3)
  const { certificate, key } = makeDtlsCertificate(now)
  const read = new X509Certificate(certificate)
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(read.verify(read.publicKey)).toBe(true)
  expect(read.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect([read.subject, read.issuer]).toEqual(['CN=roomdesk', 'CN=roomdesk'])
  expect(new Date(read.validFrom).getTime()).toBe(now - 24 * 60 * 60_000)
  expect(new Date(read.validTo).getUTCFullYear()).toBe(9999)
})

test('every process has its own certificate', () => {
  const [one, other] = [makeDtlsCertificate(), makeDtlsCertificate()].map(
    ({ certificate }) => new X509Certificate(certificate),
  )
  expect(one?.fingerprint256).not.toBe(other?.fingerprint256)
  expect(one?.serialNumber).not.toBe(other?.serialNumber)
})
