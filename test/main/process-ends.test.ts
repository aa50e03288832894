import { app } from 'electron'
import { afterEach, expect, test } from 'vitest'
import { logProcessEnds } from '../../main/process-ends.ts'

afterEach(() => void app.removeAllListeners('child-process-gone'))

test('an app process that exits unexpectedly is logged with its reason; one that exits cleanly is not', () => {
  const logged: unknown[] = []
  logProcessEnds({ error: (entry: unknown) => void logged.push(entry) })
  const gone = (details: object): boolean => app.emit('child-process-gone', {}, details)
  gone({ type: 'GPU', reason: 'crashed', exitCode: 139, serviceName: 'GPU' })
  gone({
    type: 'Utility',
    reason: 'oom',
    exitCode: 1,
    serviceName: 'node.mojom.NodeService',
    name: 'Roomdesk media node',
  })
  gone({ type: 'Utility', reason: 'clean-exit', exitCode: 0, name: 'Audio Service' })
  expect(logged).toEqual([
    { type: 'GPU', process: 'GPU', reason: 'crashed', exitCode: 139 },
    { type: 'Utility', process: 'Roomdesk media node', reason: 'oom', exitCode: 1 },
  ])
})
