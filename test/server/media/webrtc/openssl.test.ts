import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The OpenSSL that docs/rules.md names; upstream support of 1.1.1 ended on 11 September 2023. */
const documented = 'OpenSSL 1.1.1w  11 Sep 2023'

test.skipIf(process.platform !== 'linux' || process.arch !== 'x64')(
  'the OpenSSL inside the WebRTC library is the one that the documentation names',
  async () => {
    const folder = createRequire(import.meta.url).resolve('@node-datachannel/linux-x64-gnu/package.json')
    const binary = await readFile(join(folder, '../node_datachannel.node'), 'latin1')
    const found = new Set(binary.match(/OpenSSL \d+\.\d+\.\d+[a-z]? {1,2}\d{1,2} [A-Z][a-z]{2} \d{4}/g))
    expect([...found], 'node-datachannel ships another OpenSSL: update docs/rules.md and this test').toEqual([
      documented,
    ])
  },
)
