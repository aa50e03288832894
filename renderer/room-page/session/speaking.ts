import { shallowReactive, shallowRef } from 'vue'

/** Maximum number of stored speakers: more than any stage shows. */
const maxSpoke = 64
/** Maximum number of recent speakers whose sound stays connected. */
const maxVoices = 8

/** Speakers in the room, as reported by the node. */
export class Speaking {
  /** Users who speak now. */
  readonly now = shallowReactive(new Set<string>())
  /** Recent speakers, the latest first, including the current ones. */
  readonly spoke = shallowRef<readonly string[]>([])

  /** Users whose sound must be available at once: current and recent speakers. */
  get voices(): ReadonlySet<string> {
    return new Set([...this.now, ...this.spoke.value.slice(0, maxVoices)])
  }

  /** Sets the state after a join or rejoin. */
  enter({ speaking, spoke }: { speaking: readonly string[]; spoke: readonly string[] }): void {
    this.now.clear()
    for (const userId of speaking) this.now.add(userId)
    this.spoke.value = spoke
  }

  /** Sets the current speakers, the latest first. */
  change(userIds: readonly string[]): void {
    const began = userIds.filter((userId) => !this.now.has(userId))
    const speaking = new Set(userIds)
    for (const userId of [...this.now]) if (!speaking.has(userId)) this.now.delete(userId)
    for (const userId of began) this.now.add(userId)
    if (began.length === 0) return
    const others = this.spoke.value.filter((userId) => !began.includes(userId))
    this.spoke.value = [...began, ...others].slice(0, maxSpoke)
  }

  /** Removes a user who left. */
  remove(userId: string): void {
    this.now.delete(userId)
    if (this.spoke.value.includes(userId)) this.spoke.value = this.spoke.value.filter((other) => other !== userId)
  }

  clear(): void {
    this.enter({ speaking: [], spoke: [] })
  }
}
