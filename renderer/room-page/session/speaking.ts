import { shallowReactive, shallowRef } from 'vue'

/** Limit of remembered speakers: more than any stage holds. */
const maxSpoke = 64
/** A conversation has so many voices: who spoke before them is connected when they speak again. */
const maxVoices = 8

/** Speakers in the room, as the node tells them. */
export class Speaking {
  /** Users who speak now. */
  readonly now = shallowReactive(new Set<string>())
  /** Users who spoke, the latest first; those who speak now are among them. */
  readonly spoke = shallowRef<readonly string[]>([])

  /** People whose sound is to be there at once: who speaks, and who spoke last. */
  get voices(): ReadonlySet<string> {
    return new Set([...this.now, ...this.spoke.value.slice(0, maxVoices)])
  }

  /** In the room, for the first time or again. */
  enter({ speaking, spoke }: { speaking: readonly string[]; spoke: readonly string[] }): void {
    this.now.clear()
    for (const userId of speaking) this.now.add(userId)
    this.spoke.value = spoke
  }

  /** These speak from now on, who began last first. */
  change(userIds: readonly string[]): void {
    const began = userIds.filter((userId) => !this.now.has(userId))
    const speaking = new Set(userIds)
    for (const userId of [...this.now]) if (!speaking.has(userId)) this.now.delete(userId)
    for (const userId of began) this.now.add(userId)
    if (began.length === 0) return
    const others = this.spoke.value.filter((userId) => !began.includes(userId))
    this.spoke.value = [...began, ...others].slice(0, maxSpoke)
  }

  /** Somebody left. */
  remove(userId: string): void {
    this.now.delete(userId)
    if (this.spoke.value.includes(userId)) this.spoke.value = this.spoke.value.filter((other) => other !== userId)
  }

  clear(): void {
    this.now.clear()
    this.spoke.value = []
  }
}
