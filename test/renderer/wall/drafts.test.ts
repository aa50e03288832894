import { expect, onTestFinished, test } from 'vitest'
import { evenArrangement } from '../../../shared/domain/wall-layout.ts'
import { type Draft, storedDrafts, storeDrafts } from '../../../renderer/console/pages/wall/wall-storage.ts'

test('Pictures of a wall that are not saved survive a reload of the page, and drafts of another version are dropped', () => {
  onTestFinished(() => sessionStorage.clear())
  const items = [{ kind: 'camera' as const, id: 'gate' }]
  const seen = { id: 'view-1', name: 'Doors', items: [], revision: 3, changed_at: 0, version: 'seen' }
  const draft: Draft = { items, arrangement: evenArrangement, seen }
  storeDrafts([['view-1', draft]])
  expect(storedDrafts()).toEqual([['view-1', draft]])
  sessionStorage.setItem('roomdesk.wall.drafts', '[["view-1", {"tiles": 4}]]')
  expect(storedDrafts()).toEqual([])
})
