import type { FileController } from './site/file-controller.ts'
import type { SiteFault } from './site/story.ts'
import type { World } from './world.ts'

type Begin = (controller: FileController, world: World) => (() => void) | undefined

/** Everything that can happen to a controller with files. */
const begins: Readonly<Record<string, Begin>> = {
  kill: (controller) => {
    if (!controller.isRunning) return undefined
    controller.kill()
    return () => controller.start()
  },
  stop: (controller, world) => {
    if (!controller.isOpen || controller.machine.isStopped) return undefined
    controller.stop()
    return () => startWhenOver(controller, world)
  },
  'power cut': (controller) => {
    controller.cutPower()
    return () => controller.start()
  },
  'power cuts in the middle of calls': (controller, world) =>
    inTheMiddle(controller, world, () => controller.cutPower()),
  'kills in the middle of calls': (controller, world) => inTheMiddle(controller, world, () => controller.kill()),
  'full disk': ({ machine: { disk } }) => {
    disk.isFull = true
    return () => void (disk.isFull = false)
  },
  'syncs fail': ({ machine: { disk } }, world) => {
    disk.syncFails = world.pick([0.02, 0.2, 1])
    return () => void (disk.syncFails = 0)
  },
  'slow disk': ({ machine: { disk } }, world) => {
    disk.slowness = world.pick([10, 100, 3_000])
    return () => void (disk.slowness = 1)
  },
  'clock step': ({ machine }, world) => {
    machine.stepClock(world.pick([-3_700_000, -5_000, 5_000, 3_700_000]))
    return () => undefined
  },
  frozen: ({ machine }) => {
    if (!machine.isUp || machine.isStopped) return undefined
    machine.stop('frozen')
    return () => machine.resume()
  },
  backup: (controller) => {
    if (!controller.isOpen) return undefined
    controller.backUp()
    return () => undefined
  },
}

/** Ends it in the middle of one of its next calls to the disk, starts it again, and so on. @param end a kill or a power cut */
function inTheMiddle(controller: FileController, world: World, end: () => void): () => void {
  const { disk } = controller.machine
  // Few: while it reads and repairs. Many: while it writes a snapshot.
  const calls = world.pick([3, 10, 40, 400])
  let isOver = false
  const arm = (): void => {
    // Also after a kill that was under way when the fault ended: a supervisor starts it again.
    controller.start()
    if (isOver) return
    disk.afterCalls(world.between(1, calls), () => {
      end()
      world.plan(world.random() * world.pick([1, 50, 1_000]), arm)
    })
  }
  arm()
  return () => {
    isOver = true
    disk.forgetCut()
    controller.start()
  }
}

export function fileFaults(controller: FileController, world: World): readonly SiteFault[] {
  return Object.entries(begins).map(([name, begin]) => ({
    name,
    loses: () => false,
    begin: () => begin(controller, world),
  }))
}

/** It may take as long as it likes to stop; a supervisor waits, and kills it in the end. */
function startWhenOver(controller: FileController, world: World): void {
  const { life } = controller.machine
  if (!controller.isRunning) return controller.start()
  world.plan(10_000, () => {
    if (controller.machine.life === life && controller.isRunning) controller.kill()
    controller.start()
  })
}
