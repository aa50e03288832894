import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, description, installerFile, UpdatePlace } from '../../support/update-place.ts'
import { UpdatePublisher } from '../../support/update-publisher.ts'

const place = new UpdatePlace()

beforeEach(() => place.open())

test.each(['0.2.0', '0.1.9', '0.2.0-rc.1'])('a release %s is none for version 0.2.0', async (version) => {
  place.answers['/updates/latest-linux.yml'] = description(version)
  const { release: found, problem, checked_at } = (await place.checked()).view()
  expect([found, problem]).toEqual([null, null])
  expect(checked_at).toBeGreaterThan(0)
})

test.each([
  ['0.3.0-rc.2', '0.3.0-rc.10', true],
  ['0.3.0-rc.2', '0.3.0', true],
  ['0.3.0-rc.2', '0.3.0-rc.1', false],
  ['0.3.0-rc.2', '0.2.9', false],
  ['0.3.0', '0.3.0+1', false],
])('for version %s a release %s is newer: %s', async (version, offered, isNewer) => {
  place.answers['/updates/latest-linux.yml'] = description(offered)
  const view = (await place.checked(place.address, { version })).view()
  expect([view.release !== null, view.file !== '', view.problem]).toEqual([isNewer, isNewer, null])
})

describe('the signature of a release', () => {
  const other = new UpdatePublisher()
  const text = description()
  const signature = '/updates/latest-linux.yml.sig'

  test.each<[string, string, Answer]>([
    ['is not signed', 'notSigned', undefined],
    ['has an empty signature', 'notSigned', ''],
    ['has a signature that is none', 'notSigned', '<html>not here</html>'],
    ['was signed by another publisher', 'otherKey', other.sign(text)],
    ['has the signature of another release', 'otherKey', place.publisher.sign(description('0.2.0'))],
    ['has an endless signature', 'malformed', 'A'.repeat(10_000)],
  ])('one that %s is not offered (%s)', async (_case, name, answer) => {
    place.answers[signature] = answer
    const updates = await place.checked()
    expect(updates.view()).toMatchObject({ release: null, file: '', problem: { name } })
    await updates.install()
    expect([await place.installed(), place.restarts]).toEqual(['#!/bin/sh\necho old\n', 0])
  })

  test('a release modified after it was signed is not even read', async () => {
    place.answers[signature] = place.publisher.sign(text)
    for (const changed of [text.replace('0.3.0', '0.4.0'), `${text}#`, text.replaceAll('\n', '\r\n'), 'a: [']) {
      place.answers['/updates/latest-linux.yml'] = changed
      expect((await place.checked()).view()).toMatchObject({ release: null, problem: { name: 'otherKey' } })
    }
  })

  test('an old release with a valid signature replaces no newer app', async () => {
    place.answers['/updates/latest-linux.yml'] = text
    place.answers[signature] = place.publisher.sign(text)
    const updates = await place.checked(place.address, { version: '0.4.0' })
    expect(updates.view()).toMatchObject({ release: null, file: '', problem: null })
    expect(place.asked).not.toContain(`/updates/${installerFile}`)
  })

  test('during a key rotation of the publisher, the old and the new key are valid, in the app and in a release', async () => {
    place.answers[signature] = other.sign(text)
    const both = await place.checked(place.address, { keys: [place.publisher.publicKey, other.publicKey] })
    expect(both.view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
    place.answers[signature] = other.sign(text) + place.publisher.sign(text)
    expect((await place.checked()).view()).toMatchObject({ release: { version: '0.3.0' }, problem: null })
  })

  test('a build without a key makes no request, and says why', async () => {
    const updates = await place.checked(place.address, { keys: [] })
    expect(updates.view()).toMatchObject({ release: null, checked_at: 0, problem: { name: 'noKey' } })
    expect(place.asked).toEqual([])
  })
})
