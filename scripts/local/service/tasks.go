package service

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"wavegate/shared/operations/table"
)

// RunTask runs a task's function once, as its schedule does.
func (s *Service) RunTask(ctx context.Context, id string) error {
	if s.functions[id] == nil {
		return fmt.Errorf("service: there is no task %s", id)
	}
	_, err := s.invoker(nil, id).Invoke(ctx, []byte("{}"))
	return err
}

// schedule runs every task on its schedule, or at the interval every if that is not 0, until the
// service stops. The function itself logs a failed run, and the next run catches up.
func (s *Service) schedule(every time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, task := range table.Tasks {
		running.Go(func() {
			for ticker := time.NewTicker(cmp.Or(every, task.Every)); ; {
				select {
				case <-ctx.Done():
					ticker.Stop()
					return
				case <-ticker.C:
					if err := s.RunTask(ctx, task.ID); err != nil && ctx.Err() == nil {
						s.logs.add(task.ID, "the task failed: "+err.Error())
					}
				}
			}
		})
	}
	s.onStop(func() { cancel(); running.Wait() })
}
