import { placeOfRecord, sealedCollections, sealedTextOf, withSealedText, withTrashTexts } from '../sealed-places.ts'
import { isOutdated, type Sealer } from '../sealer.ts'
import { resealed, sealedMarks, withPlacedSecrets } from '../site-settings.ts'
import { applyChange, changeOf, type State } from '../state.ts'
import { turn } from '../system/time.ts'

/** Records inspected between two turns of the event loop: a few milliseconds where all are resealed. */
const chunk = 200

/** Seals every text of a state that has no place for its place, and marks the state. A text that does not open stays as it is. */
export async function resealState(state: State, sealer: Pick<Sealer, 'reseal'>): Promise<void> {
  let seen = 0
  for (const collection of sealedCollections)
    for (const [key, record] of state[collection]) {
      const text = sealedTextOf(collection, record)
      const place = placeOfRecord(collection, key, record)
      if (isOutdated(text, place)) {
        const after = withSealedText(collection, record, resealed(text, place, sealer))
        applyChange(state, changeOf(collection, key, after))
      }
      if (++seen % chunk === 0) await turn()
    }
  for (const [id, entry] of state.trash) {
    state.trash.set(
      id,
      withTrashTexts(entry, (text, place) => (isOutdated(text, place) ? resealed(text, place, sealer) : text)),
    )
    if (++seen % chunk === 0) await turn()
  }
  const settings = state.settings.get('site')
  if (settings !== undefined) state.settings.set('site', { ...withPlacedSecrets(settings, sealer), ...sealedMarks })
}
