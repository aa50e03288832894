import type { Extra } from '../extras.ts'
import { fileFaults } from '../file-faults.ts'
import { BrokenPromise, History } from '../history.ts'
import { Machine } from '../machine.ts'
import { Network } from '../network.ts'
import type { World } from '../world.ts'
import { FileController } from './file-controller.ts'
import type { Story } from './story.ts'

/** Within this time after the last fault it has started again, and the disk is found to be back. */
const recoveredMs = 12_000

/** A site of one controller in files. */
export function fileSite(world: World, extras: ReadonlySet<Extra>): Story {
  const network = new Network(world)
  const controller = new FileController(world, new Machine(world, 'a'))
  const history = new History(world, () => undefined, extras.has('true refusals'))
  return {
    // A machine without power says nothing: who waits long for it asks little.
    site: { world, network, controllers: [controller], patienceMs: world.pick([300, 1_000, 12_000]) },
    history,
    others: [],
    forget: () => history.forget(),
    settle: () => history.settle(),
    faults: fileFaults(controller, world),
    recoveredMs,
    start: async () => {
      controller.start()
      await world.run(world.time + world.between(0, 1_000))
    },
    mend: () => {
      controller.machine.resume()
      controller.start()
    },
    trials: [],
    check: () => expectSameAfterCut(world, controller),
  }
}

/** Everything that it has in memory is there after a power cut. */
async function expectSameAfterCut(world: World, controller: FileController): Promise<void> {
  const { rooms } = controller
  controller.cutPower()
  controller.start()
  await world.run(world.time + recoveredMs)
  if (controller.rooms === rooms) return
  world.note('HISTORY', `${controller.name} has not all rooms after the power cut`)
  throw new BrokenPromise(`the rooms of ${controller.name} are not those from before the power cut`)
}
