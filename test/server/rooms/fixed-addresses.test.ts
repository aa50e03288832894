import { expect, test } from 'vitest'
import { fixedAddresses } from '../../../server/rooms/other-controllers.ts'
import { defaultSettings } from '../../../shared/settings.ts'
import { storedNode } from '../../support/stored-records.ts'

test('an address of one machine is reported if the node moves with the leader', () => {
  const { media } = defaultSettings()
  const addresses = [{ tag: 'office', addr: '10.0.0.5:7082' }]
  const nodes = [
    storedNode('here', { kind: 'embedded' }),
    storedNode('fixed', { kind: 'embedded', addresses }),
    storedNode('off', { kind: 'embedded', addresses, enabled: false }),
    storedNode('janus', { kind: 'janus', addresses }),
  ]
  expect(fixedAddresses(nodes, { media })).toEqual([
    expect.stringMatching(/embedded node fixed .*10\.0\.0\.5:7082.* leave it out/),
  ])
  expect(fixedAddresses([], { media: { ...media, advertised: ['203.0.113.9'] } })).toEqual([
    expect.stringContaining('203.0.113.9'),
  ])
  expect(fixedAddresses([], { media })).toEqual([])
})
