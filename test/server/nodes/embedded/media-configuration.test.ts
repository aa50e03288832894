import { expect, test } from 'vitest'
import { mediaConfiguration } from '../../../../server/nodes/embedded/media-configuration.ts'
import type { StoredNode } from '../../../../server/store/records.ts'
import { nodeConfigSchema } from '../../../../shared/node.ts'
import { defaultSettings } from '../../../../shared/settings.ts'

const store = { unseal: (text: string) => text, all: () => new Map<string, never>() }
const places = { sitePorts: [], otherNodes: [], pageOrigins: [], leaseMs: 0, restartsAt: 0 }
const secrets_sealed = JSON.stringify({ token_key: 'a'.repeat(44) })

function node(...addrs: string[]): StoredNode {
  const addresses = addrs.map((addr) => ({ tag: '', addr }))
  const config = nodeConfigSchema.parse({ name: 'here', kind: 'embedded', addresses })
  return { ...config, created_at: 1, draining: false, secrets_sealed }
}

test("media is offered on the node's tagged addresses, unless the settings name others", () => {
  const { media, deadlines, recording } = defaultSettings()
  const advertised = (given: StoredNode, settings = media): string[] =>
    mediaConfiguration(given, { media: settings, deadlines, recording }, store, places).settings.advertised
  expect(advertised(node())).toEqual([])
  expect(advertised(node('10.0.0.5:7082', '203.0.113.9:443', '10.0.0.5:8082'))).toEqual(['10.0.0.5', '203.0.113.9'])
  expect(advertised(node('[2001:db8::7]:7082', 'rooms.example.org:443', '0.0.0.0:7082'))).toEqual(['2001:db8::7'])
  expect(advertised(node('10.0.0.5:7082'), { ...media, advertised: ['198.51.100.1'] })).toEqual(['198.51.100.1'])
})
